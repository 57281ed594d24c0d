/** The path of start.js at run time. */
declare const path: string
export default path
