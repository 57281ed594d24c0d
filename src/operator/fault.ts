/** `warn` needs a look but stops nothing; `fail` stops messages, or loses them, until somebody acts. */
export type FaultLevel = 'warn' | 'fail'

/** A check of the doctor found something: what is wrong, and its fix. */
export class Fault extends Error {
  override readonly name = 'Fault'
  constructor(
    message: string,
    readonly level: FaultLevel = 'fail',
  ) {
    super(message)
  }
}
