/**
 * The path of a request line without its trailing slash, whatever the Host header says. The URL of a request begins with the Host; if that is
 * missing or no name, Bun gives the path alone.
 */
export function pathOf({ url }: Request): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
  const end = url.indexOf('?', start)
  return start < 0 ? '/' : withoutSlash(url.slice(start, end < 0 ? undefined : end))
}

/** A path without its trailing slash, which makes no difference anywhere. */
export const withoutSlash = (path: string): string => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path)
