/** Chromium without a window, for tests of pages. */
import { existsSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'
import { describe } from 'vitest'

const executablePath = '/usr/bin/chromium'
const isThere = existsSync(executablePath)
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Tests that are skipped where Chromium is not installed. */
export function inChromium(name: string, tests: () => void): void {
  const note = isThere ? '' : ` (skipped: there is no ${executablePath})`
  describe.skipIf(!isThere)(`${name} in Chromium${note}`, tests)
}

/** Each start uses a new, empty user data folder. */
export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath, args })
}
