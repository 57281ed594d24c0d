import Ajv, { type Options, type ValidateFunction } from 'ajv/dist/2019'
import addFormats from 'ajv-formats'
import published from './ringcentral-schemas.json'

export { published }

export type Schema = Record<string, unknown>

/** The check of a JSON value by a schema of the extract, or by one that refers to them. It is compiled once. */
export const jsonValidator = cached(() => compilerFor({}))

/** The same for a form or a query, whose numbers are text. */
export const textValidator = cached(() => compilerFor({ coerceTypes: true }))

function cached(create: () => Ajv): (schema: Schema) => ValidateFunction {
  const validators = new Map<Schema, ValidateFunction>()
  let compiler: Ajv | null = null
  return (schema) => {
    const known = validators.get(schema)
    if (known !== undefined) return known
    compiler ??= create()
    const validate = compiler.compile(closed(schema, { isWhole: true }) as Schema)
    validators.set(schema, validate)
    return validate
  }
}

function compilerFor(options: Options): Ajv {
  const compiler = new Ajv({ strict: false, allErrors: true, ...options })
  addFormats(compiler)
  for (const format of ['int32', 'int64', 'binary']) compiler.addFormat(format, true)
  return compiler.addSchema({ $id: 'published', components: { schemas: closed(published.schemas, { isMap: true }) } })
}

/** The members below which a complete value is described. The parts of `allOf` and `anyOf` describe no complete value. */
const WHOLE: readonly string[] = ['properties', 'items']

interface Place {
  /** A map of schemas by name. */
  isMap?: boolean
  /** Whether the schema, or each schema of the map, describes a complete value. */
  isWhole?: boolean
}

/** The schema without unknown members: every part of a value must be known to some part of its schema. */
function closed(value: unknown, { isMap = false, isWhole = false }: Place): unknown {
  if (Array.isArray(value)) return value.map((one) => closed(one, {}))
  if (typeof value !== 'object' || value === null) return value
  if (isDiscriminated(value)) return discriminated(value)
  // OpenAPI allows it only beside `allOf`, but ajv does not.
  const known = Object.entries(value).filter(([key]) => isMap || key !== 'nullable' || 'type' in value)
  const members = known.map(([key, one]) => {
    if (isMap) return [key, closed(one, { isWhole })]
    if (key === '$ref') return [key, `published${String(one)}`]
    return [key, closed(one, { isMap: key === 'properties', isWhole: WHOLE.includes(key) })]
  })
  const copy = Object.fromEntries(members) as Schema
  const hasMembers = '$ref' in copy || 'allOf' in copy || 'anyOf' in copy || copy['type'] === 'object'
  return isWhole && !isMap && hasMembers ? { ...copy, unevaluatedProperties: false } : copy
}

/** A value whose member `propertyName` says which schema it has. */
interface Discriminated {
  oneOf: unknown[]
  discriminator: { propertyName: string; mapping: Record<string, string> }
}

const isPublished = (ref: string): boolean => ref.replace(/^.*\//, '') in published.schemas

const isDiscriminated = (value: object): value is Discriminated =>
  'oneOf' in value && !Object.values((value as Partial<Discriminated>).discriminator?.mapping ?? {}).every(isPublished)

/** RingCentral's file names schemas that it does not have: a value of theirs may be anything. */
function discriminated({ oneOf, discriminator: { propertyName, mapping } }: Discriminated): unknown {
  const [known, unknown] = [true, false].map((is) => ({
    [propertyName]: { enum: Object.keys(mapping).filter((name) => isPublished(mapping[name] ?? '') === is) },
  }))
  return {
    anyOf: [
      { oneOf: oneOf.map((one) => closed(one, {})), properties: known },
      { required: [propertyName], properties: unknown, additionalProperties: true },
    ],
  }
}
