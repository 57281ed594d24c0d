/** Reads the typed text: `name:value` words are filters, and all other words are `text`. An unknown name is text. */
export function parseSearch<Name extends string>(
  typed: string,
  names: readonly Name[],
): Partial<Record<Name | 'text', string>> {
  const filter: Partial<Record<Name | 'text', string>> = {}
  const words: string[] = []
  for (const word of typed.trim().split(/\s+/)) {
    const [, name, value] = /^(\w+):(.+)$/.exec(word) ?? []
    const known = names.find((candidate) => candidate === name && candidate !== 'text')
    if (known !== undefined && value !== undefined) filter[known] = value
    else if (word !== '') words.push(word)
  }
  return words.length === 0 ? filter : { ...filter, text: words.join(' ') }
}
