import { z } from 'zod'

export type Json = Record<string, unknown>

/** Whether a schema describes what a client sends or what it gets. */
export type Direction = 'input' | 'output'

/** Makes the JSON of schemas. Those with an `id` become named schemas, and the others refer to them. */
export class NamedSchemas {
  readonly #named = new Map<string, string>()

  /** The JSON of a schema, which is a reference if the schema has a name. */
  of(schema: z.ZodType, io: Direction): Json {
    // Zod would inline a named schema at the root, so it is the member of an object.
    const json = z.toJSONSchema(z.object({ root: schema }), { io, unrepresentable: 'any', override: adapt })
    const text = JSON.stringify(json).replaceAll('"#/$defs/', '"#/components/schemas/')
    const { properties, $defs = {} } = JSON.parse(text) as { properties: { root: Json }; $defs?: Record<string, Json> }
    for (const [name, named] of Object.entries($defs)) this.#add(name, named)
    return properties.root
  }

  get components(): Record<string, Json> {
    const sorted = [...this.#named].toSorted(([a], [b]) => a.localeCompare(b, 'en'))
    return Object.fromEntries(sorted.map(([name, text]) => [name, JSON.parse(text) as Json]))
  }

  /** One name is one schema, because generated clients have one type for it. */
  #add(name: string, schema: Json): void {
    const text = JSON.stringify(schema)
    if ((this.#named.get(name) ?? text) !== text)
      throw new Error(`Two schemas have the id ${name}: give one another id`)
    this.#named.set(name, text)
  }
}

/** Corrections where zod's JSON differs from the interface. */
function adapt({ zodSchema, jsonSchema: json }: { zodSchema: z.core.$ZodTypes; jsonSchema: Json }): void {
  const { def } = zodSchema._zod
  // Answers may get new fields, and Number's safe range is not a rule of the interface.
  if (json['additionalProperties'] === false) delete json['additionalProperties']
  if (json['minimum'] === Number.MIN_SAFE_INTEGER) delete json['minimum']
  if (json['maximum'] === Number.MAX_SAFE_INTEGER) delete json['maximum']
  if (def.type === 'record') delete json['propertyNames']
  if (def.type === 'catch') delete json['default']
  if (def.type === 'union' && 'discriminator' in def)
    json['discriminator'] = discriminatorOf(String(def.discriminator), def.options)
  const { default: preset, example } = z.globalRegistry.get(zodSchema) ?? {}
  // Zod forgets the default of a value that is transformed.
  if (preset !== undefined) json['default'] = preset
  if (example !== undefined) {
    delete json['example']
    json['examples'] = [example]
  }
}

/** Which named schema each value of the discriminator means. */
function discriminatorOf(discriminator: string, options: readonly z.core.$ZodType[]): Json {
  const mapping = options.flatMap((option) => {
    const id = z.globalRegistry.get(option)?.id
    const values = [...(option._zod.propValues?.[discriminator] ?? [])]
    return id === undefined ? [] : values.map((value) => [String(value), `#/components/schemas/${id}`])
  })
  return { propertyName: discriminator, mapping: Object.fromEntries(mapping) as Json }
}
