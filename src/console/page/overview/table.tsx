import type { ComponentChildren } from 'preact'

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
