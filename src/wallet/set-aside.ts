/** Files of wallets that cannot be used: set aside by name, so that the operator can look at them and put a copy in their place. */
import { existsSync, readdirSync, renameSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Problem } from '../base/problem.ts'
import { filesOf } from '../storage/files.ts'

/** What ends the name of a file that was set aside. */
const isSetAside = /\.damaged-[0-9TZ]+$/

/** The name that a file is set aside under now. */
export function nameAside(path: string): string {
  return `${basename(path)}.damaged-${new Date().toISOString().replaceAll(/[-:.]/g, '')}`
}

/** Renames a database's files, so that nobody takes them for the wallet's. */
export function setAside(path: string, name: string): void {
  for (const file of filesOf(path))
    if (existsSync(file)) renameSync(file, join(dirname(path), name) + file.slice(path.length))
}

/** The names of files in a folder that were set aside, and that nothing has been put in the place of. */
export function findSetAside(folder: string): string[] {
  const names = readdirSync(folder)
  return names.filter((name) => isSetAside.test(name) && !names.includes(name.replace(isSetAside, '')))
}

/** The problem of a wallet whose file is missing, or was set aside. */
export function unusable(folder: string, id: string, cause?: Error): Problem {
  const name = findSetAside(folder).findLast((name) => name.startsWith(`${id}.db`))
  const whereabouts =
    name === undefined
      ? 'It is missing.'
      : `It is damaged or another's, and was set aside as wallets/${name}.`
  return unreadable(id, whereabouts, cause)
}

/** The problem of a wallet whose file cannot be used. */
export function unreadable(id: string, whereabouts: string, cause?: Error): Problem {
  const detail = `The file of the wallet ${id} cannot be used. ${whereabouts} The operator of the agent can put a copy of it back.`
  return new Problem('error:WalletManagementServiceError:WalletUnreadable', detail, { cause })
}
