/**
 * Runs the contestants in turn, A B B A, so that a slow phase of the machine affects all of them. The order turns round each time: one
 * commit measured against itself was up to a quarter faster in the last place. Returns what `choose` makes of the figures of each, by default the median.
 */
export async function alternate<Name extends string>(
  rounds: number,
  contestants: Readonly<Record<Name, () => Promise<number>>>,
  choose: (figures: readonly number[]) => number = median,
): Promise<Record<Name, number>> {
  const names = Object.keys(contestants) as Name[]
  const figures = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) figures[name].push(await contestants[name]())
  }
  return Object.fromEntries(names.map((name) => [name, choose(figures[name])])) as Record<Name, number>
}

export const median = (figures: readonly number[]): number =>
  figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN
