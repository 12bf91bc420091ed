/// The version of Freshet.
package let freshetVersion = "0.1.0"
