/** Saves a file, or what a URL has. The address of a file lasts until a browser has begun to save it. */
export function save(file: Blob | string, name: string): void {
  const href = typeof file === 'string' ? file : URL.createObjectURL(file)
  Object.assign(document.createElement('a'), { href, download: name }).click()
  if (href !== file) setTimeout(() => URL.revokeObjectURL(href), 10_000)
}
