/** `agent accept` answers each kind in each form. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Asked, kinds, startAsking } from './_incoming.ts'

const { user, alice, ask, flags, draw } = await startAsking()

/** By form: the argument, and standard input. */
const forms: Readonly<Record<string, (asked: Asked) => { argument: string; input?: string }>> = {
  'short link': ({ short }) => ({ argument: short }),
  'long link or record': ({ long }) => ({ argument: long }),
  JSON: ({ json }) => ({ argument: json }),
  picture: ({ short }) => ({ argument: draw(short) }),
  'standard input': ({ short }) => ({ argument: '-', input: `${short}\n` }),
  file: ({ json }) => {
    const file = join(user.folder, 'given.json')
    writeFileSync(file, json)
    return { argument: file }
  },
}

describe.each(kinds)('%s', (kind) => {
  test.each(Object.keys(forms))('as %s', async (form) => {
    const asked = await ask[kind]()
    const { argument, input = '' } = forms[form]!(asked)
    const line = ['accept', argument, '--yes', ...(await flags[kind]())]
    const { code, err } = await alice.run(line, { input })
    expect([code, err]).toEqual([0, expect.stringMatching(/^This is an? /)])
    await expect.poll(asked.end).toBe(asked.wanted)
  })
})
