/** Rounds to three significant digits. */
export const rounded = (figure: number): number =>
  Math.abs(figure) >= 100 ? Math.round(figure) : Number(figure.toPrecision(3))
