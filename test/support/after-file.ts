/**
 * vitest runs this before each test file. Its own modules are loaded once for each process, so what files
 * share is not here.
 */
import { afterAll } from 'vitest'
import { endShared } from './shared.ts'

afterAll(endShared)
