/** The headers of a page: what it may load, and where its form may lead. No page may be framed or tell other sites its address. */
export const pageHeaders = (sources: readonly string[], formAction = "'none'"): Record<string, string> => ({
  'content-security-policy': [
    "default-src 'none'",
    ...sources,
    `form-action ${formAction}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
})

/** For a page whose files all come from this gateway, with nothing inline. Icons are `data:` images. */
export const OWN_FILES_HEADERS = pageHeaders([
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
])
