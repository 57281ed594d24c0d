import type { ComponentChildren } from 'preact'

/** Rows under the names of their columns. */
export const Table = ({ columns, children }: { columns: readonly string[]; children: ComponentChildren }) => (
  <table>
    <thead>
      <tr>
        {columns.map((name) => (
          <th scope="col">{name}</th>
        ))}
      </tr>
    </thead>
    <tbody>{children}</tbody>
  </table>
)
