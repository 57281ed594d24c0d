import { afterAll } from 'bun:test'

/**
 * What the tests of a file share, such as a gateway with many messages and a page of it: made for the first test that asks for it, and disposed
 * of after the last one.
 */
export function sharedByTests<T>(make: (stack: AsyncDisposableStack) => Promise<T>): () => Promise<T> {
  const stack = new AsyncDisposableStack()
  let made: Promise<T> | null = null
  afterAll(() => stack.disposeAsync())
  return () => (made ??= make(stack))
}
