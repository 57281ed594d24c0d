/** Whether the caller's `Accept` (RFC 9110, section 12.5.1) ranks a page above JSON, as browsers' do. Ties go to JSON. */
export const prefersPage = (request: Request): boolean => prefers(request, 'text/html')

/** The same for a type other than a page. */
export function prefers(request: Request, type: 'text/html' | 'text/csv'): boolean {
  const accept = (request.headers.get('accept') ?? '').toLowerCase()
  return weightOf(accept, type) > weightOf(accept, 'application/json')
}

/** The weight of a type that is named. Wildcards do not rank the two types, so they are ignored. */
function weightOf(accept: string, type: string): number {
  for (const item of accept.split(',')) {
    const [name, ...parameters] = item.split(';').map((part) => part.trim())
    if (name !== type) continue
    const weight = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)
    return Number.isNaN(weight) ? 0 : weight
  }
  return 0
}
