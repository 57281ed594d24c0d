/** A check of the doctor failed: what is wrong, and its fix. */
export class Fault extends Error {
  override readonly name = 'Fault'
}
