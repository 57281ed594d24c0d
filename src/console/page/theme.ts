// Runs before the page is drawn, so that a chosen theme or privacy mode does not flash. It is a classic script: no imports.
{
  const root = document.documentElement
  const read = (name: string): string | null => {
    try {
      return localStorage.getItem(name)
    } catch {
      return null // Storage can be forbidden.
    }
  }
  const theme = read('sgw.theme')
  if (theme === 'light' || theme === 'dark') root.style.colorScheme = theme
  if (read('sgw.privacy') === 'on') root.classList.add('private')
}
