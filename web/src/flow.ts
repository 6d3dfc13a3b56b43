/** A task of the page while it is shown. */
export interface Flow {
    title: string;
    lead: string;
    element: HTMLElement;
    /** Begins its work, once it is on the page. */
    start(): void;
    /** Ends its work. */
    end(): void;
}
