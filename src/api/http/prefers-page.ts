/** Whether the caller's `Accept` (RFC 9110, section 12.5.1) ranks a page above JSON, as browsers' do. Ties go to JSON. */
export function prefersPage(request: Request): boolean {
  const accept = (request.headers.get('accept') ?? '').toLowerCase()
  return weightOf(accept, 'text/html') > weightOf(accept, 'application/json')
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
