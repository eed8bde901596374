"""What a view would cost: its plan, run over samples of its sources beside the running dataflow."""
