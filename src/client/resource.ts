import type { RequestOptions, Requester } from './requester.ts'

/** A group of endpoints. Their paths are below `/v1`. */
export abstract class Resource {
  protected readonly requester: Requester

  constructor(requester: Requester) {
    this.requester = requester
  }

  protected call<T>(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<T> {
    return this.requester.request(method, `/v1${path}`, { ...options, body })
  }

  /** Resolves with one member of the answer. */
  protected async member<T>(name: string, path: string, query?: object): Promise<T> {
    const answer = await this.call<Record<string, T>>('GET', path, undefined, { query })
    return answer[name] as T
  }
}
