import { readdirSync, readFileSync, statSync, writeFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  profileNames,
  profilePath,
  readLocalProfile,
  readProfile,
  readProfileInUse,
  removeProfile,
  writeProfile,
  writeProfileInUse,
  type LocalProfile,
  type RemoteProfile,
} from '../../../src/foundation/config/profile.ts'
import { StartError } from '../../../src/foundation/start-error.ts'
import { newFolder } from '../../support/folder.ts'

const profile: LocalProfile = {
  kind: 'local',
  url: 'http://127.0.0.1:8085',
  didcommUrl: 'http://127.0.0.1:8090',
  adminToken: 'admin-token-of-a-test',
  apiKey: 'api-key-of-a-test',
  dataDir: '/var/lib/agent',
  pid: 4711,
  startedAt: '2026-11-20T19:00:00.000Z',
}

const remote: RemoteProfile = { kind: 'remote', url: 'https://agent.example', apiKey: 'api-key-of-a-test' }

let folder: string
beforeEach(() => (folder = newFolder()))

describe('a profile', () => {
  test('is read as it was written', () => {
    writeProfile(folder, 'local', profile)
    expect(readProfile(folder, 'local')).toEqual(profile)
  })

  test('may be without an API key', () => {
    const { apiKey: _, ...without } = profile
    writeProfile(folder, 'local', without)
    expect(readProfile(folder, 'local')).toEqual(without)
  })

  test('is undefined without a file', () => {
    expect(readProfile(folder, 'local')).toBeUndefined()
  })

  test('is readable by its owner only, even in a folder that others could read', () => {
    mkdirSync(join(folder, 'profiles'), { mode: 0o777 })
    writeFileSync(profilePath(folder, 'local'), '{}', { mode: 0o666 })
    writeProfile(folder, 'local', profile)
    expect(statSync(profilePath(folder, 'local')).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'profiles')).mode & 0o777).toBe(0o700)
  })

  test('leaves no temporary file', () => {
    writeProfile(folder, 'local', profile)
    writeProfile(folder, 'local', { ...profile, pid: 4712 })
    expect(readdirSync(join(folder, 'profiles'))).toEqual(['local.json'])
  })

  test('is not replaced by an invalid one', () => {
    writeProfile(folder, 'local', profile)
    expect(() => writeProfile(folder, 'local', { ...profile, url: 'nowhere' })).toThrow()
    expect(readProfile(folder, 'local')).toEqual(profile)
  })

  test.each(['../local', 'a/b', '', 'a b', '.', 'a.json'])('cannot be called %j', (name) => {
    expect(() => readProfile(folder, name)).toThrow(StartError)
    expect(() => writeProfile(folder, name, profile)).toThrow(StartError)
  })

  test.each([
    ['no JSON', '{"url":'],
    ['empty', ''],
    ['no object', '[]'],
    ['without a token', JSON.stringify({ ...profile, adminToken: undefined })],
    ['with a port for a URL', JSON.stringify({ ...profile, url: 8085 })],
    ['of no kind', JSON.stringify({ ...profile, kind: undefined })],
    ['of another machine with an invalid URL', JSON.stringify({ ...remote, url: 'ftp://agent.example' })],
    ['of another machine with an empty key', JSON.stringify({ ...remote, apiKey: '' })],
    ['with process id 0', JSON.stringify({ ...profile, pid: 0 })],
  ])('that is %s is refused, and the reason quotes no secret', (_, text) => {
    mkdirSync(join(folder, 'profiles'))
    writeFileSync(profilePath(folder, 'local'), text)
    expect(() => readProfile(folder, 'local')).toThrow(StartError)
    expect(() => readProfile(folder, 'local')).not.toThrow(/-of-a-test/)
  })

  test('names invalid fields in the error', () => {
    mkdirSync(join(folder, 'profiles'))
    writeFileSync(
      profilePath(folder, 'local'),
      JSON.stringify({ ...profile, pid: 'x', startedAt: 'yesterday' }),
    )
    expect(() => readProfile(folder, 'local')).toThrow('(pid, startedAt)')
  })

  test('of a remote agent needs only an address', () => {
    const { apiKey: _, ...least } = remote
    writeProfile(folder, 'acme', least)
    expect(readProfile(folder, 'acme')).toEqual(least)
    expect(() => readLocalProfile(folder, 'acme')).toThrow(
      'acme is of a daemon elsewhere, https://agent.example',
    )
  })

  test('is listed until it is removed', () => {
    expect(profileNames(folder)).toEqual([])
    writeProfile(folder, 'local', profile)
    writeProfile(folder, 'acme', remote)
    writeFileSync(join(folder, 'profiles', '.hidden.json.4711'), '')
    expect(profileNames(folder)).toEqual(['acme', 'local'])
    removeProfile(folder, 'acme')
    removeProfile(folder, 'acme')
    expect(profileNames(folder)).toEqual(['local'])
  })

  test('is indented JSON', () => {
    writeProfile(folder, 'local', profile)
    expect(readFileSync(profilePath(folder, 'local'), 'utf8')).toContain('\n  "url": "http://127.0.0.1:8085"')
  })
})

describe('the profile in use', () => {
  test('is undefined until one is selected, and after it is deselected', () => {
    expect(readProfileInUse(folder)).toBeUndefined()
    writeProfileInUse(folder, 'acme')
    expect(readProfileInUse(folder)).toBe('acme')
    expect(statSync(join(folder, 'current')).mode & 0o777).toBe(0o600)
    writeProfileInUse(folder, undefined)
    writeProfileInUse(folder, undefined)
    expect(readProfileInUse(folder)).toBeUndefined()
  })

  test.each(['', '../etc', 'a b', 'acme\nbob'])('cannot be %j', (text) => {
    writeFileSync(join(folder, 'current'), text)
    expect(() => readProfileInUse(folder)).toThrow(StartError)
  })

  test('may be followed by a line break, as editors write it', () => {
    writeFileSync(join(folder, 'current'), 'acme\n\n')
    expect(readProfileInUse(folder)).toBe('acme')
  })
})
