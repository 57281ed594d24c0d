/** The types of `gateway.mjs`, for tests in TypeScript. */
interface Gateway {
  readonly url: string
  readonly key: string
  /** The number that texts are sent from. */
  readonly number: string
  api(method: string, path: string, body?: unknown): Promise<{ status: number; answer: any }>
  control(name: string, argument?: object): Promise<any>
  inbox(number: string): Promise<string[]>
  reply(number: string, text: string): Promise<unknown>
  advance(duration: string): void
  waitFor<T>(check: () => T | Promise<T>, seconds?: number): Promise<T>
}

export function useGateway(): Gateway
