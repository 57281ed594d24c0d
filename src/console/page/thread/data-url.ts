/** A file as a data URL, which the page's security policy allows for pictures. */
export const dataUrlOf = async (blob: Blob): Promise<string> =>
  `data:${blob.type};base64,${(await blob.bytes()).toBase64()}`
