/** The shapes of the REST contract that the console uses (docs/http.md). */
import type { Json } from './exact';

export interface Column {
  name: string;
  type: string;
  nullable?: boolean;
  default?: string;
  generated?: string;
  comment?: string;
}

export interface Constraint {
  name: string;
  type: string;
  definition: string;
}

export interface Table {
  name: string;
  columns: Column[];
  primary_key: string[];
  constraints?: Constraint[];
  comment?: string;
}

export interface Build {
  reads: number;
  rows: number;
  rounds: number;
  share: number;
}

export interface View {
  name: string;
  sql: string;
  dialect: string;
  columns: Column[];
  state: 'ready' | 'building' | 'errors' | 'failed';
  reason: string | null;
  comment?: string;
  progress?: Build;
  notices?: string[];
}

export type Row = Record<string, Json>;

export interface Result {
  statement: string;
  epoch: number;
  count?: number;
  columns?: Column[];
  rows?: Json[][];
  next?: string;
}

export interface Change {
  epoch: number;
  diff: number;
  row: Row;
}

export interface Position {
  line: number;
  column: number;
}

/** An RFC 9457 problem as the service sends it. */
export interface ProblemBody {
  title: string;
  status: number;
  detail: string;
  code: string;
  hint?: string;
  position?: Position | null;
  index?: number;
}

export interface Job {
  id: string;
  state: 'running' | 'done' | 'failed' | 'cancelled';
  progress: number;
  rows: number | null;
  epoch: number | null;
  error: ProblemBody | null;
  created: string;
  ended: string | null;
  table?: string;
  view?: string;
  path?: string;
  format?: string;
}

export interface Status {
  epoch: number;
  tables: number;
  views: number;
  failed: string[];
  waiting: number;
  loads: Record<string, number>;
  exports: Record<string, number>;
  spark: { session: string; advances: Record<string, number | string> };
  texts: number;
  memory_bytes: number;
  memory_high_bytes: number;
  memory_high: boolean;
  held: Record<string, number>;
  uptime_seconds: number;
  version: string;
}

export interface PlanNode {
  id: string;
  operator: string;
  details: string[];
  inputs: string[];
  depth: number;
  columns: Column[];
  figures?: Record<string, number>;
  spans?: Span[];
}

export interface Plan {
  stage: string;
  nodes: PlanNode[];
  result: string;
}

/** A stretch of a query's text, in characters. */
export interface Span {
  start: number;
  end: number;
  line: number;
  column: number;
}

export interface CatalogEntry {
  name: string;
  kind: 'table' | 'view';
  state: string;
  reason: string | null;
  reads: string[];
}

export interface ListedEpoch {
  epoch: number;
  committed_at: string | null;
  tables: Record<string, number>;
  views: Record<string, number>;
}

export interface EpochList {
  newest: number;
  epochs: ListedEpoch[];
  next: number | null;
}

export interface ReplayStep {
  operator: string;
  rounds: number[];
  taken: number;
  passed: number;
  rows: RowDifference[];
}

export interface Replay {
  view: string;
  epoch: number;
  committed_at: string | null;
  plan: Plan;
  steps: ReplayStep[];
  cut: boolean;
}

export interface Cost {
  name: string;
  kind: 'table' | 'view';
  rows: number;
  behind: number;
  memory_bytes: number;
  mapped_bytes: number;
  seconds: number;
  differences: number;
  changes: number;
}

/** What a view would cost. With `at_least`, the estimate ended early, so that it costs more. */
export interface ViewEstimate {
  at_least: boolean;
  rows: number;
  memory_bytes: number;
  disk_bytes: number;
  build_seconds: number;
  changes: ChangeCost[];
  shared_with: string[];
  read: { table: string; part: number }[];
  dear: DearOperator[];
  over_budget: string[];
}

/** What a change of one row of a table takes. */
export interface ChangeCost {
  table: string;
  median_rows: number;
  bad_rows: number;
  median_milliseconds: number;
  bad_milliseconds: number;
}

/** The operator that takes the greatest part of the view's time, memory or changes. */
export interface DearOperator {
  of: string;
  operator: string;
  part: number;
  place: string;
  cure: string | null;
}

/** A row that is there, or is not, by a rule, because of others. `see` is the number of the fact that explains it. */
export interface Reason {
  rule: string;
  row?: Row;
  table?: string;
  times?: number;
  see?: number;
  of?: Reason[];
  more?: number;
}

export interface Fact extends Reason {
  fact: number;
}

export interface Explanation {
  view: string;
  epoch: number;
  row: Row;
  count: number;
  because: Reason;
  facts: Fact[];
  tables: Record<string, Row[]>;
  cut: boolean;
}

export interface Absence {
  view: string;
  epoch: number;
  row: Row;
  because: Reason;
  missing: Record<string, Row[]>;
}

export interface Origin {
  idempotency_key: string | null;
  load: string | null;
  source: string | null;
  merged: string | null;
}

export interface Moved {
  epoch: number;
  committed_at: string | null;
  diff: number;
  by: Origin | null;
  changes: Record<string, RowDifference[]>;
}

/** `waits` says why a live branch does not go on, `lost` why one could not be restored. */
export interface Branch {
  name: string;
  of: string;
  parted: number;
  begins: number;
  epoch: number | null;
  bytes: number | null;
  created: string;
  /** Epochs of the parent that have its changes. */
  merged: number[];
  live: boolean;
  follows: number | null;
  waits: string | null;
  lost: string | null;
}

export interface Merge {
  branch: string;
  into: string;
  epoch: number;
  changes: number;
  conflicts: number;
  /** Views of the branch that were made on its parent, and those that were not. */
  views: string[];
  left_out: { view: string; reason: string }[];
}

export interface BranchDifference {
  relation: string;
  from: string;
  to: string;
  rows: number;
  differences: RowDifference[];
}

/** `changes` says whether a view has another plan, which holds `bytes`; `sql` is null if it gets no query itself. */
export interface ReplacedView {
  name: string;
  sql: string | null;
  changes: boolean;
  bytes: number | null;
}

export interface Replacement {
  name: string;
  state: 'building' | 'ready' | 'outdated' | 'failed';
  reason: string | null;
  created: string;
  views: ReplacedView[];
}

/** A page of the rows by which a view differs; `next` is the number of the first one after them. */
export interface ReplacementPreview {
  replacement: string;
  view: string;
  epoch: number;
  rows: number;
  next: number | null;
  differences: RowDifference[];
}

export interface RowDifference {
  diff: number;
  row: Row;
}
