/** A file as a data URL, which the page's security policy allows for pictures. */
export const dataUrlOf = async (blob: Blob): Promise<string> =>
  `data:${blob.type};base64,${(await blob.bytes()).toBase64()}`

/** `48 KB`, `2.4 MB`. */
export const sizeText = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`
