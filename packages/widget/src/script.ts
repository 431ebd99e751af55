import { defineElement } from './element.ts';
import { mount } from './mount.ts';
import { setScriptOrigin } from './options.ts';

/** `/widget/v1.js`: for pages without a bundler. Loaded twice, the first one stays. */
const page = globalThis as { Causeway?: { readonly mount: typeof mount } };
const tag = document.currentScript;

if (page.Causeway === undefined) {
  setScriptOrigin(tag instanceof HTMLScriptElement ? new URL(tag.src).origin : undefined);
  page.Causeway = Object.freeze({ mount });
  defineElement();
}
