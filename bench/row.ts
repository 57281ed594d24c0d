/** One line of a bench's table: names and figures. */
export type Row = Record<string, string | number>
