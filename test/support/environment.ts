import { exemptThisMachine } from '../../src/core/proxy.ts'

// Behind a company's proxy, requests of benches and scripts also stay on this machine. Everything that starts programs loads this file.
exemptThisMachine(process.env)

/**
 * The base environment of programs that tests and benches start. It excludes variables that could change their behavior, including those of a
 * `.env` in the project's folder, which Bun reads automatically.
 */
export const BASE_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: process.env['PATH'] ?? '',
  BUN_OPTIONS: '--no-env-file',
}
