"""Jobs in processes of their own on this machine, under limits: what runs away there ends alone."""
