/** `warn`: something should be checked, but messages still flow. `fail`: messages stop or are lost until somebody acts. */
export type FaultLevel = 'warn' | 'fail'

/** Thrown by a check of the doctor. The message says what is wrong and how to fix it. */
export class Fault extends Error {
  override readonly name = 'Fault'
  constructor(
    message: string,
    readonly level: FaultLevel = 'fail',
  ) {
    super(message)
  }
}
