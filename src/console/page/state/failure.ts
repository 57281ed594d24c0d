import { SgwError } from '../../../client/client.ts'

/** Why a call failed, as a sentence: the gateway's words, or that it does not answer. */
export function failureText(error: unknown): string {
  if (error instanceof SgwError && error.status === 0) return 'The gateway does not answer.'
  if (error instanceof SgwError && error.status < 400) return 'Something before the gateway redirects. Reload the page.'
  return `The gateway says: ${error instanceof Error ? error.message : String(error)}.`
}
