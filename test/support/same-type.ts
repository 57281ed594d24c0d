/** The same type as one object without `undefined` in optional members, which zod adds and hand-written types leave out. */
export type Plain<T> = T extends readonly (infer Item)[]
  ? Plain<Item>[]
  : T extends Date
    ? T
    : T extends object
      ? { [Name in keyof T]: Plain<Exclude<T[Name], undefined>> }
      : T

/** True if the types are exactly the same. */
export type Same<A, B> =
  (<T>() => T extends Plain<A> ? 1 : 2) extends <T>() => T extends Plain<B> ? 1 : 2 ? true : ['differs', A, B]

/** `bun run types` refuses a call with anything but `true`. */
export const prove = <_Proof extends true>(): void => undefined
