import type { Config } from '../../core/config.ts'
import { ALSO_KNOWN } from '../../core/similar-names.ts'

/** The entry point or a profile sets these, and one database can have many addresses. */
const NEVER_COMPARED: readonly string[] = ['DATABASE_URL', 'LITESTREAM', ...ALSO_KNOWN]
/** A unit or a container sets these for the server alone, or a person sets them in `.env`. */
const ONLY_IF_SET_HERE: readonly string[] = ['NODE_ENV', 'HOST']

type Variables = Config['variables']

/** Whether this environment configures a gateway. The environment of a separate shell, beside the server, does not. */
export const isConfiguration = (variables: Variables): boolean =>
  Object.keys(variables).some((name) => ![...NEVER_COMPARED, ...ONLY_IF_SET_HERE].includes(name))

/** The names of the variables whose values differ between the server's start and `here`, sorted. */
export function differingVariables(server: Variables, here: Variables): string[] {
  const names = Object.keys(server).filter((name) => !ONLY_IF_SET_HERE.includes(name))
  return [...new Set([...names, ...Object.keys(here)])]
    .filter((name) => !NEVER_COMPARED.includes(name) && server[name] !== here[name])
    .toSorted()
}
