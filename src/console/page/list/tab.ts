/** A tab above a list: the filters that it sets, where '' removes one. Every tab of a row names the same filters. */
export interface Tab {
  name: string
  asks: Readonly<Record<string, string>>
}

/** The tab that matches the filters of the row; null if none does. */
export const tabOf = (tabs: readonly Tab[], filter: Readonly<Partial<Record<string, string>>>): Tab | null =>
  tabs.find(({ asks }) => Object.entries(asks).every(([name, value]) => (filter[name] ?? '') === value)) ?? null
