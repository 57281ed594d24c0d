/** Three digits that mean something. */
export const rounded = (figure: number): number =>
  Math.abs(figure) >= 100 ? Math.round(figure) : Number(figure.toPrecision(3))
