import { Line } from './line.ts'

/** The lines in memory. An empty line is removed. */
export class Lines {
  readonly #byTenant = new Map<string, Map<string, Line>>()
  /** The lines of a number, of all tenants. They share its rate window and its conversations. */
  readonly #byNumber = new Map<string, Set<Line>>()

  /**
   * Returns the line of a tenant's number, and creates it if needed. Lines with jobs are known from the start, so a new one
   * has none.
   */
  of(tenantId: string, number: string, hasMore = false): Line {
    const known = this.#byTenant.get(tenantId)?.get(number)
    if (known !== undefined) return known
    const line = new Line(tenantId, number, hasMore)
    const lines = this.#byTenant.get(tenantId) ?? new Map<string, Line>()
    this.#byTenant.set(tenantId, lines.set(number, line))
    const others = this.#byNumber.get(number) ?? new Set()
    this.#byNumber.set(number, others.add(line))
    return line
  }

  has(tenantId: string, number: string): boolean {
    return this.#byTenant.get(tenantId)?.has(number) === true
  }

  ofTenant(tenantId: string): Iterable<Line> {
    return this.#byTenant.get(tenantId)?.values() ?? []
  }

  ofNumber(number: string): Iterable<Line> {
    return this.#byNumber.get(number) ?? []
  }

  *all(): Generator<Line> {
    for (const lines of this.#byTenant.values()) yield* lines.values()
  }

  forget(line: Line): void {
    const lines = this.#byTenant.get(line.tenantId)
    // It may have been forgotten and created again since.
    if (lines?.get(line.number) !== line) return
    lines.delete(line.number)
    if (lines.size === 0) this.#byTenant.delete(line.tenantId)
    const others = this.#byNumber.get(line.number)
    others?.delete(line)
    if (others?.size === 0) this.#byNumber.delete(line.number)
  }
}
