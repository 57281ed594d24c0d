import type { Requester } from './requester.ts'

/** A group of endpoints. */
export abstract class Resource {
  protected readonly requester: Requester

  constructor(requester: Requester) {
    this.requester = requester
  }

  protected call<T>(method: string, path: string, body?: unknown): Promise<T> {
    return this.requester.request(method, path, { body })
  }

  /** Resolves with one member of the answer. */
  protected async member<T>(name: string, path: string, query?: object): Promise<T> {
    const answer = await this.requester.request<Record<string, T>>('GET', path, { query })
    return answer[name] as T
  }
}
