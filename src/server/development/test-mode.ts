import { type Config, type ConfigResult, readConfig } from '../../core/config.ts'
import type { Environment } from '../../core/settings.ts'

const NO_LIMIT = '1000000000'

/** The defaults that the test mode changes. A variable in the environment overrides them. */
const TEST_VALUES: Readonly<Record<string, string>> = {
  KEY_LIMIT_PER_MINUTE: NO_LIMIT,
  FROM_LIMIT_PER_MINUTE: NO_LIMIT,
  EXTENSION_LIMIT_PER_MINUTE: NO_LIMIT,
  // A test waits for these after a fault of the provider.
  PROVIDER_TIMEOUT: '5s',
  RECONCILE_SETTLE: '1s',
  RECONCILE_SETTLE_5XX: '1s',
}

/** Reads the configuration of a gateway for tests. It refuses production, and a provider other than the built-in simulator. */
export function readTestConfig(environment: Environment, terminal = false): ConfigResult {
  const result = readConfig({ ...environment, values: { ...TEST_VALUES, ...environment.values } }, terminal)
  if (environment.values['NODE_ENV'] === 'production') return refused(result, 'NODE_ENV=production')
  if (!result.ok) return result
  if (!result.config.provider.simulated) return refused(result, 'RC_CLIENT_ID and RC_CLIENT_SECRET')
  return { ...result, config: withFastPolls(result.config) }
}

const refused = (result: ConfigResult, variables: string): ConfigResult => ({
  ok: false,
  rest: result.ok ? result.config : result.rest,
  problems: [`The test mode needs the built-in simulator: unset ${variables}`],
  warnings: [],
})

const withFastPolls = (config: Config): Config => ({ ...config, fastDeliveryPolls: true })
