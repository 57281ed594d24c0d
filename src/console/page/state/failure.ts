import { SgwError } from '../../../client/client.ts'

/** Why something failed, as a sentence: the gateway's words, that it does not answer, or the page's own. */
export function failureText(error: unknown): string {
  if (error instanceof SgwError && error.status === 0) return 'The gateway does not answer.'
  if (error instanceof SgwError && error.status < 400)
    return 'Something in front of the gateway redirects. Reload the page.'
  const message = error instanceof Error ? error.message : String(error)
  return error instanceof SgwError ? `The gateway says: ${message}.` : `${message}.`
}
