import type { Json } from './named-schemas.ts'

type Named = Readonly<Record<string, Json>>

/** An example of what a schema describes, made of the examples of its parts. Optional members appear only if they have one. */
export function exampleOf(schema: Json, named: Named): unknown {
  const [own] = (schema['examples'] ?? []) as unknown[]
  if (own !== undefined) return own
  if ('const' in schema) return schema['const']
  if ('default' in schema) return schema['default']
  if (typeof schema['$ref'] === 'string') return exampleOf(named[nameIn(schema['$ref'])] ?? {}, named)
  const [first] = (schema['enum'] ?? schema['oneOf'] ?? schema['anyOf'] ?? []) as unknown[]
  if (Array.isArray(schema['enum'])) return first
  if (first !== undefined) return exampleOf(first as Json, named)
  return exampleOfType(schema, named)
}

/** The name that a reference to a component ends with. */
const nameIn = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)

function exampleOfType(schema: Json, named: Named): unknown {
  const type = Array.isArray(schema['type']) ? (schema['type'] as string[])[0] : schema['type']
  if (type === 'object') return exampleOfObject(schema, named)
  if (type === 'array') return [exampleOf((schema['items'] ?? {}) as Json, named)]
  if (type === 'integer' || type === 'number') return schema['minimum'] ?? 0
  if (type === 'boolean') return true
  return schema['format'] === 'date' ? '2026-11-21' : '…'
}

function exampleOfObject({ properties = {}, required = [] }: Json, named: Named): Json {
  const shown = Object.entries(properties as Record<string, Json>).filter(
    ([name, property]) => (required as string[]).includes(name) || 'examples' in property,
  )
  return Object.fromEntries(shown.map(([name, property]) => [name, exampleOf(property, named)]))
}
