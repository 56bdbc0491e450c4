/** The modules of the conformance suite that the documentation names. */
import { readFileSync } from 'node:fs'

const page = new URL('../../docs/reference/interoperability.md', import.meta.url)

/** The row of a role, and the modules that it says pass. Both are empty if there is no row. */
export function documented(role: string): { row: string; names: string[] } {
  const rows = readFileSync(page, 'utf8').split('\n')
  const row = rows.find((each) => each.startsWith(`- **${role}**`)) ?? ''
  const names = Array.from(
    row.matchAll(/`((?:VCI(?:Issuer|Ensure|Warn)|VP1Final|FAPI2SPFinal|oid4vci-1_0-)[\w-]+)`/g),
    ([, name]) => name!,
  )
  return { row, names }
}

/** The rows of the table of variants of the issuer's modules. */
export function documentedVariants(): string[][] {
  const rows = readFileSync(page, 'utf8').split('\n')
  const at = rows.findIndex((each) => each.startsWith('| flow | grant |'))
  const end = rows.findIndex((each, index) => index > at && !each.startsWith('|'))
  return rows.slice(at + 2, end).map((each) =>
    each
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}
