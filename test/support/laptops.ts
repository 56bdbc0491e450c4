/**
 * Two machines in a local network of their own: network namespaces that a cable (veth) connects. They reach
 * each other at 192.168.77.10 and 192.168.77.20, and nothing else.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect } from 'vitest'
import { until } from './tenants.ts'
import { bin, type CommandResult, newUser, words, type Value } from '../commands/_cli.ts'

/** Whether a user may create network interfaces in a namespace of their own. */
export const canIsolate =
  process.platform === 'linux' &&
  spawnSync('unshare', ['-rn', 'ip', 'link', 'add', 'lan0', 'type', 'veth', 'peer', 'name', 'lan1'])
    .status === 0

type Environment = Readonly<Record<string, string>>

export type Laptop = {
  folder: string
  /** Runs a program there. */
  run: (program: string, args: readonly string[], env?: Environment) => Promise<CommandResult>
  /** Runs a command of the agent there, with `--json`. It must succeed. */
  agent: (texts: TemplateStringsArray, ...values: Value[]) => Promise<any>
  /** Runs a command of the agent there. */
  command: (args: readonly string[], env?: Environment) => Promise<CommandResult>
  /** Gives its interface another address. */
  moveTo: (address: string) => void
  close: () => Promise<void>
}

export async function twoLaptops(): Promise<[Laptop, Laptop]> {
  const one = await hold('unshare', ['-rn'])
  const two = await hold('nsenter', [...into(one.pid!, '-U'), 'unshare', '-n'])
  const cable = ['link', 'add', 'lan0', 'type', 'veth', 'peer', 'name', 'lan0', 'netns', String(two.pid)]
  execFileSync('nsenter', [...into(one.pid!, '-U', '-n'), 'ip', ...cable])
  const laptops: [Laptop, Laptop] = [laptop(one, '192.168.77.10'), laptop(two, '192.168.77.20')]
  // Linux reports that the cable is plugged in a moment later. Node.js does not list the interface before.
  for (const { run } of laptops)
    await until(
      'the interface',
      () => run('ip', ['link', 'show', 'lan0']),
      ({ out }) => out.includes('state UP'),
    )
  return laptops
}

function into(pid: number, ...namespaces: string[]): string[] {
  return ['-t', String(pid), ...namespaces, '--preserve-credentials', '--']
}

/** A process that keeps namespaces open. */
async function hold(program: string, args: readonly string[]) {
  const script = 'ip link set lo up && echo ready && exec cat'
  const holder = spawn(program, [...args, 'sh', '-c', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(holder.stdout, 'data')
  return holder
}

function laptop(holder: Awaited<ReturnType<typeof hold>>, address: string): Laptop {
  const user = newUser()
  const prefix = into(holder.pid!, '-U', '-n')
  const ip = (...args: string[]) => execFileSync('nsenter', [...prefix, 'ip', ...args])
  const moveTo = (next: string) => {
    ip('addr', 'flush', 'dev', 'lan0')
    ip('addr', 'add', `${next}/24`, 'dev', 'lan0')
  }
  moveTo(address)
  ip('link', 'set', 'lan0', 'up')
  const own = {
    NO_COLOR: '1',
    HOME: user.folder,
    AGENT_CONFIG_DIR: join(user.folder, 'config'),
    AGENT_DATA_DIR: join(user.folder, 'data'),
    TMPDIR: user.folder,
  }
  const run: Laptop['run'] = async (program, args, env = {}) => {
    const { exitCode, stdout, stderr } = await execa('nsenter', [...prefix, program, ...args], {
      env: { ...own, ...env },
      reject: false,
    })
    return { code: exitCode, out: stdout, err: stderr }
  }
  const command: Laptop['command'] = (args, env) => run(process.execPath, [bin, ...args], env)
  return {
    folder: user.folder,
    run,
    command,
    moveTo,
    agent: async (...line) => {
      const args = words(...line)
      const { code, out, err } = await command([...args, '--json'])
      expect({ args, code, err }).toEqual({ args, code: 0, err: '' })
      return JSON.parse(out)
    },
    close: async () => {
      await command(['daemon', 'stop'])
      holder.stdin.end()
      await once(holder, 'exit')
      user.remove()
    },
  }
}
