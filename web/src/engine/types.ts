/// What the engine says and is asked, as far as the page draws it. `docs/report.schema.json` has all of a report.

/** An error in the three parts that the command has, too. */
export interface Wrong {
    what: string;
    why: string;
    remedy: string;
    line: number;
}

/** An error of the engine, for the user. */
export class EngineError extends Error {
    constructor(readonly wrong: Wrong) {
        super([wrong.what, wrong.why, wrong.remedy].filter(Boolean).join(": "));
    }
}

/** A question about a fleet; words are those of the command's flags. */
export interface FleetQuestion {
    lab: string;
    text?: string;
    place: string;
    /** Numbers of devices, ascending. */
    devices: number[];
    every: string;
    payload: number;
    phy_rate?: string;
    broadcast?: boolean;
    encrypt?: boolean;
    battery?: string;
    sleep?: string;
    profile?: string;
    walls?: number;
    distance?: [number, number];
    loss?: number;
    p99?: string;
    seed?: number;
    rooms?: number;
    messages?: number;
}

/** A figure with its interval at 95 %. */
export interface Value {
    value: number;
    ci_low: number | null;
    ci_high: number | null;
}

/** The figures of one setting. */
export interface PredictionRow {
    devices: number;
    rate: string;
    loss_percent: Value | null;
    p99_ms: Value | null;
    channel_busy_percent: Value | null;
    own_busy_percent?: number;
    life_days?: Value | null;
}

/** The card of a prediction. */
export interface Prediction {
    title: string;
    verdict?: string;
    rows: PredictionRow[];
    energy?: {
        mean_ma: Value | null;
        battery?: string;
        life_days?: Value | null;
        parts: { part: string; day_mah: number; share: number }[];
    };
    limited_by: { of: string; part: string; share: number }[];
    changes?: { flag: string; to: string; to_ms?: number; figures: PredictionRow; helps: boolean; keeps_limits: boolean; place?: number }[];
    next?: string;
    warnings?: string[];
}

/** A table of a report. */
export interface ReportTable {
    id: string;
    title: string;
    columns: { name: string; unit: string }[];
    rows: (string | null)[][];
}

/** A figure of a report. */
export interface ReportFigure {
    id: string;
    title: string;
    alt: string;
    series: { name: string; points: { x: number; y: number }[] }[];
}

/** A result. */
export interface Cell {
    metric: string;
    value: number | null;
    unit: string;
    ci_low: number | null;
    ci_high: number | null;
}

/** A report. */
export interface Report {
    prediction: Prediction | null;
    cells: Cell[];
    tables: ReportTable[];
    figures: ReportFigure[];
    failures: { error: string }[];
}

/** Two results side by side. */
export interface Comparison {
    ours: Cell;
    other: Cell;
    ratio: number | null;
    ratio_low: number | null;
    ratio_high: number | null;
    difference: number | null;
    difference_low: number | null;
    difference_high: number | null;
    /** Whether the two differ and nothing is shown of it, since there is no interval. */
    lacks_interval: boolean;
    verdict: string;
    /** What to know beside the verdict. */
    notes?: string[];
}

/** What there is. */
export interface LibraryList {
    tool: string;
    labs: { name: string; title: string; text: string }[];
    environments: { name: string; title: string }[];
    profiles: string[];
}

/** A station of a drawn room. */
export interface Station {
    name: string;
    group: string;
    kind: "device" | "router" | "other" | "noise";
    x: number;
    y: number;
    z: number;
    chip: string;
    channel: number;
}

/** A room as it is drawn. */
export interface DrawnRoom {
    title: string;
    environment: string;
    stations: Station[];
    left_out: number;
    devices: number;
    walls: { from: [number, number]; to: [number, number]; loss_db: number }[];
    signals: { group: string; count: number; weakest_dbm: number; strongest_dbm: number; unread: number }[];
    deaf: number;
    hidden: number;
    variants: string[];
}

/** Begin and end in µs, sender, addressee (-1: all), kind, read, collided, too weak, attempt. */
export type Flight = [number, number, number, number, number, number, number, number, number];

/** Frames on the air. */
export interface DrawnFlights {
    stations: Station[];
    kinds: string[];
    flights: Flight[];
    dropped: number;
    seconds: number;
}

/** A place in a file. */
export interface Evidence {
    source: string;
    line: number;
    text: string;
}

/** A cause that the doctor found. */
export interface Finding {
    title: string;
    certainty: string;
    incidents: number;
    share: number;
    evidence: Evidence[];
    remedy: string;
    confirm: string;
    link?: string;
    follows_from?: string;
}

/** The doctor's answer about one device. */
export interface Diagnosis {
    files: string[];
    lines: number | null;
    recorded: number | null;
    answer: string;
    verdict: "causes" | "nothing-wrong" | "cannot-tell";
    findings: Finding[];
    contradictions: string[];
    notes: string[];
}
