import type { z } from 'zod'
import type { Json, NamedSchemas } from './named-schemas.ts'

type Place = 'path' | 'query' | 'header'

/** Makes the parameters of operations. The first of a name is the shared one; the others with that name refer to it if they are the same. */
export class SharedParameters {
  readonly #shared = new Map<string, Json>()

  constructor(readonly schemas: NamedSchemas) {}

  /** The parameters of an object schema: references, or parameters that differ from the shared one. */
  of(place: Place, schema: z.ZodType | undefined): Json[] {
    if (schema === undefined) return []
    const { properties = {}, required = [] } = this.schemas.of(schema, 'input') as {
      properties?: Record<string, Json>
      required?: string[]
    }
    return Object.entries(properties).map(([name, { description, ...own }]) =>
      this.#referenceTo({
        name,
        in: place,
        required: place === 'path' || required.includes(name),
        ...(description === undefined ? {} : { description }),
        schema: own,
      }),
    )
  }

  get components(): Record<string, Json> {
    return Object.fromEntries(this.#shared)
  }

  #referenceTo(parameter: Json): Json {
    const name = `${capitalized(String(parameter['in']))}${capitalized(String(parameter['name'])).replaceAll('-', '')}`
    const shared = this.#shared.get(name) ?? parameter
    this.#shared.set(name, shared)
    return JSON.stringify(shared) === JSON.stringify(parameter)
      ? { $ref: `#/components/parameters/${name}` }
      : parameter
  }
}

const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)
