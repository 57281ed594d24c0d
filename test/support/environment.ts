/**
 * What a program of a test or a bench has in its environment beside what it is given: nothing of ours that could change what it does,
 * and nothing of a `.env` in the project's folder, which Bun reads by itself.
 */
export const BASE_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: process.env['PATH'] ?? '',
  BUN_OPTIONS: '--no-env-file',
}
