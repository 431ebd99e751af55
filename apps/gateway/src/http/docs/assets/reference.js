/** Starts Scalar with the settings that the page carries. */
const settings = JSON.parse(document.getElementById('reference-settings').textContent);
const place = document.getElementById('reference');
const dark = matchMedia('(prefers-color-scheme: dark)');

// Requests go to the gateway that serves the page, whatever address the reader knows it by.
const configuration = () => ({
  ...settings,
  servers: [{ url: location.origin, description: 'This deployment' }],
  forceDarkModeState: dark.matches ? 'dark' : 'light',
});

place.replaceChildren();
const reference = window.Scalar.createApiReference(place, configuration());
dark.addEventListener('change', () => reference.updateConfiguration(configuration()));
