/** Files that are served unchanged: their import is their path at run time, even inside an executable. */
declare module 'swagger-ui-dist/swagger-ui.css' {
  const path: string
  export default path
}

declare module 'swagger-ui-dist/swagger-ui-bundle.js' {
  const path: string
  export default path
}

declare module '*/docs.css' {
  const path: string
  export default path
}
