/**
 * `npm run recording`: draws the pictures of the documentation in `docs/images` from the built program. It
 * needs util-linux `script` for a pseudo-terminal.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { launch } from '../../test/support/chromium.ts'
import { drawRecording, type Printed } from './recorder/draw.ts'
import { linesOf } from './recorder/screen.ts'
import { drawStill } from './recorder/svg.ts'
import { runInTerminal } from './terminal.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const images = join(root, 'docs/images')
const size = { columns: 100, rows: 30 }
/** Milliseconds for which a line of the demo is the last one, at least. */
const paceMs = 350

const folder = mkdtempSync(join(tmpdir(), 'identity-agent-recording-'))
const { PATH } = process.env
const env = {
  PATH: `${folder}:${PATH}`,
  HOME: folder,
  TERM: 'xterm-256color',
  LANG: 'C.UTF-8',
  AGENT_CONFIG_DIR: join(folder, 'config'),
}
const agent = (...args: string[]) => execFileSync('agent', args, { env, encoding: 'utf8' })

try {
  mkdirSync(images, { recursive: true })
  symlinkSync(join(root, 'bin/agent.cjs'), join(folder, 'agent'))
  await recordDemo()
  const config = startKept()
  try {
    await drawDashboard(config)
    await photographPages(config)
  } finally {
    for (const profile of ['acme', 'alice'])
      execFileSync('agent', ['daemon', 'stop', '--profile', profile], {
        env: { ...env, AGENT_CONFIG_DIR: config },
      })
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** The demo in two panes, slow enough to read. */
async function recordDemo(): Promise<void> {
  const printed: Printed[] = []
  const start = performance.now()
  let dueMs = 0
  await runInTerminal('agent demo', size, env, undefined, (chunk) => {
    for (const text of chunk.split(/(?<=\n)/)) {
      const atMs = Math.max(performance.now() - start, dueMs)
      dueMs = atMs + paceMs
      printed.push({ atMs, text })
    }
  })
  save('demo.svg', await drawRecording('agent demo', size, printed))
}

/** Runs the demo and leaves its daemons running. Returns the folder of their profiles. */
function startKept(): string {
  const { folder: kept } = JSON.parse(agent('demo', '--scenario', 'all', '--keep', '--json')) as {
    folder: string
  }
  process.on('exit', () => rmSync(kept, { recursive: true, force: true }))
  return join(kept, 'config')
}

async function drawDashboard(config: string): Promise<void> {
  const kept = { ...env, AGENT_CONFIG_DIR: config }
  agentOf(
    config,
    'credential',
    'offer',
    '--profile',
    'acme',
    '--connection',
    'alice',
    '--issuing-did',
    issuer(config),
    '--claim',
    'name=Alice Example',
    '--claim',
    'badge:=42',
  )
  const screen = await runInTerminal('agent tui --profile alice', { columns: 110, rows: 32 }, kept, ['2'])
  save('tui.svg', drawStill(linesOf(screen), { columns: 110, rows: 32 }, 'The dashboard: agent tui'))
}

async function photographPages(config: string): Promise<void> {
  const { shortUrl } = JSON.parse(
    agentOf(config, 'onboard', 'create', '--from', 'Acme', '--profile', 'acme', '--json'),
  ) as { shortUrl: string }
  const browser = await launch()
  const page = await browser.newPage({ viewport: { width: 1000, height: 820 } })
  const photograph = async (name: string, url: string, shown: string) => {
    await page.goto(url)
    await page.locator(shown).first().waitFor()
    writeFileSync(join(images, name), await page.screenshot())
    process.stdout.write(`docs/images/${name}\n`)
  }
  try {
    await photograph('onboarding.png', shortUrl, 'svg')
    await photograph('api-reference.png', new URL('/docs', shortUrl).href, '.opblock-tag')
  } finally {
    await browser.close()
  }
}

function issuer(config: string): string {
  const [first] = (
    JSON.parse(agentOf(config, 'did', 'list', '--profile', 'acme', '--json')) as {
      contents: { did: string }[]
    }
  ).contents
  return first!.did
}

function agentOf(config: string, ...args: string[]): string {
  return execFileSync('agent', args, { env: { ...env, AGENT_CONFIG_DIR: config }, encoding: 'utf8' })
}

function save(name: string, text: string): void {
  writeFileSync(join(images, name), text)
  process.stdout.write(`docs/images/${name} ${Math.ceil(text.length / 1_024)} KB\n`)
}
