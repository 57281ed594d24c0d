/**
 * The path of a request line, whatever the Host header says. The URL of a request begins with the Host; if that is missing or not a name, Bun
 * gives only the path.
 */
export function fullPathOf({ url }: Request): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
  const end = url.indexOf('?', start)
  return start < 0 ? '/' : url.slice(start, end < 0 ? undefined : end)
}

/** The same without a trailing slash, which makes no difference anywhere. */
export const pathOf = (request: Request): string => withoutSlash(fullPathOf(request))

export const withoutSlash = (path: string): string => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path)
