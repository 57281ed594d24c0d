/** Reads what was typed: `name:value` words are filters, and all other words are `text`. A name that is not known is text. */
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

/** `waiting, failed or cancelled`, for what can be asked instead. */
export const oneOf = (words: readonly string[]): string => `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`
