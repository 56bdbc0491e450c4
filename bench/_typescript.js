/**
 * Lets Node load TypeScript file by file, compiled as in the bundle: `node --import ./bench/_typescript.js
 * …`. tsx preserves function names, which makes the creation of each nested function a microsecond slower.
 */
import { register } from 'node:module'

register('./_typescript-hooks.js', import.meta.url)
