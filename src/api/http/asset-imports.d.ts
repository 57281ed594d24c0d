/** Files that are served as they are: their import is the path they have at run time, also inside of one executable. */
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
